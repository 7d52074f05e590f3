# fsc in a container: docker build -t fsc . && docker run --rm --gpus all -v "$PWD":/work fsc run kernel.dsl …
# The first stage compiles it and makes the package, the second one installs that, and Python's part with NumPy.
FROM debian:12 AS build
COPY . /fsc
WORKDIR /fsc
RUN ./bootstrap build && cd build/release && cpack -G DEB

FROM debian:12-slim
COPY --from=build /fsc/build/release/*.deb /tmp/
RUN apt-get update \
    && apt-get install -y --no-install-recommends /tmp/*.deb python3 python3-numpy \
    && rm -rf /tmp/*.deb /var/lib/apt/lists/*
ENV PYTHONPATH=/usr/share/fsc/python
WORKDIR /work
ENTRYPOINT ["fsc"]
