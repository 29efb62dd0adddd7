/** Opens the ways of its first argument, executes the shell script of its second, and says what that printed. */
import { execFile } from 'node:child_process';
import { openWays, type Way } from '../network/ways.ts';

const [way = '', script = ''] = process.argv.slice(2);
if (way !== '') await openWays(JSON.parse(way) as Way);
execFile('/bin/sh', ['-c', script], (error, stdout, stderr) => {
  process.stdout.write(stdout + stderr);
  process.exit(error === null ? 0 : 1);
});
