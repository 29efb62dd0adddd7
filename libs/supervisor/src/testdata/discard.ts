/** Removes a folder as the user that a test gives this process. */
import { discardFolder } from '../discard-folder.ts';

process.stdout.write(JSON.stringify((await discardFolder(process.argv[2] ?? '')) ?? null));
