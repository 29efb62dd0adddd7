import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { declaredKinds } from '../collections/table.ts';
import { registerStoreContract } from '../contract/store.contract.ts';
import { openSqliteStore } from './sqlite-store.ts';

describe('SQLite store', () => {
  registerStoreContract(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keelson-store-'));
    return {
      open: (barrier, projections = [], kinds = declaredKinds()) =>
        openSqliteStore({ file: join(folder, 'store.db'), barrier, projections, kinds }),
      remove: () => rm(folder, { recursive: true }),
    };
  });
});
