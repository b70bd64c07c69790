"""The analysis protocol: queries of many positions as lines of JSON, in the shape of KataGo's analysis engine."""
