/** Whether a user can execute phases at all. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { ExecutionUnavailable, requireUsable } from './owners.ts';

const PROGRAM = { name: 'built-in runner', prefix: 'KEELSON_RUNNER_', unsafe: 'UNSAFE' };
/** A user that has no files. */
const OWNER = { uid: 199_999_002, gid: 199_999_002 };

test.runIf(process.getuid?.() === 0)(
  'a user that cannot reach the installation is refused by name, and any other is not',
  async () => {
    await using outside = await temporaryDirectory();
    const folder = join(outside.path, 'installation');
    const file = join(folder, 'executor.ts');
    await mkdir(folder, { mode: 0o700 });
    await writeFile(file, '', { mode: 0o644 });
    await chmod(outside.path, 0o755);
    const refused = requireUsable(PROGRAM, OWNER, file);
    await expect(refused).rejects.toThrow(ExecutionUnavailable);
    await expect(refused).rejects.toThrow(`cannot execute ${file}`);
    await expect(requireUsable(PROGRAM, {}, file)).resolves.toBeUndefined();
    await chmod(folder, 0o755);
    await expect(requireUsable(PROGRAM, OWNER, file)).resolves.toBeUndefined();
    await chmod(file, 0o600);
    await expect(requireUsable(PROGRAM, OWNER, file)).rejects.toThrow(
      'KEELSON_RUNNER_FIRST_USER_ID',
    );
  },
);
