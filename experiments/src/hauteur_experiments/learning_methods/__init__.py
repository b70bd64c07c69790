"""Methods of learning that save evaluations: Wu 2019, Silver et al. 2017, Danihelka et al. 2022."""
