from package.inner.round import circle
