"""ONNX models written from the weights of a network, without torch and without the package onnx."""
