# Both programs in an image: docker build --build-arg CWND_REVISION="$(git rev-parse --short=8 HEAD)" --tag cwnd .
FROM rust:1-bookworm AS build
WORKDIR /source
COPY . .
# Results name it; the repository itself stays outside.
ARG CWND_REVISION=
RUN cargo build --release --locked --package cwnd-cli --package cwnd-transfer \
    && cargo xtask licences programs THIRD-PARTY.txt

FROM debian:bookworm-slim
COPY --from=build /source/target/release/cwnd /source/target/release/udt /usr/local/bin/
COPY LICENSE-APACHE LICENSE-MIT /usr/local/share/doc/cwnd/
COPY --from=build /source/THIRD-PARTY.txt /usr/local/share/doc/cwnd/
USER 65534:65534
WORKDIR /tmp
ENTRYPOINT ["cwnd"]
CMD ["--help"]
