/** The default command of the image: standalone, reachable from outside the container, with its log on standard output. */
process.env['KEELSON_LISTEN_ADDRESS'] ??= '0.0.0.0';
process.env['KEELSON_LOG_FILE'] ??= '-';
// The image has neither a tool nor bubblewrap, and without a sandbox runs would execute as the user that owns the data.
process.env['KEELSON_RUNNER'] ??= 'false';
await import('./main.ts');
