/** What `docker run` starts without a command: standalone, reached from outside of the container, logging where `docker logs` looks. */
process.env.KEELSON_LISTEN_ADDRESS ??= '0.0.0.0';
process.env.KEELSON_LOG_FILE ??= '-';
await import('../../services/standalone/src/start.js');
