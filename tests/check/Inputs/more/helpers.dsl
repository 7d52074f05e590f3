@jit
def exp(x):
    return x + 9.0
