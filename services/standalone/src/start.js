/** `npm start`: main.ts, unless this version of Node is too old to read TypeScript. */
import { refuseOldNode } from '@keelson/runtime/node-version';

if (!refuseOldNode('keelson')) await import('./main.ts');
