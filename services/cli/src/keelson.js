#!/usr/bin/env node
/** The command `keelson`: main.ts, unless this version of Node is too old to read it. */
import { refuseOldNode } from '@keelson/runtime/node-version';

// Otherwise this signal opens a debugger, which shows tokens in memory. Older versions refuse `--disable-sigusr1` in
// the first line.
process.on('SIGUSR1', () => undefined);

if (!refuseOldNode('keelson')) await import('./main.ts');
