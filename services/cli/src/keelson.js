#!/usr/bin/env node
/** The command `keelson`: main.ts, unless this version of Node is too old to read it. */
import { refuseOldNode } from '@keelson/runtime/node-version';

if (!refuseOldNode('keelson')) await import('./main.ts');
