/** The default command of the image: standalone, reachable from outside the container, with its log on standard output. */
process.env['KEELSON_LISTEN_ADDRESS'] ??= '0.0.0.0';
process.env['KEELSON_LOG_FILE'] ??= '-';
// The image has no tool, and runs would execute as the user that owns the data. `true` with KEELSON_RUNNER_TOOLS_FOLDER enables it.
process.env['KEELSON_RUNNER'] ??= 'false';
await import('./main.ts');
