import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_MOUNT_CONFIG, type MountRecord } from './mount.ts';
import { MountIndex } from './mount-index.ts';
import { findConflict } from './mount-path.ts';

const segment = fc.constantFrom('a', 'b', 'ab', 'pki');
const path = fc
  .array(segment, { minLength: 1, maxLength: 4 })
  .map((parts) => `${parts.join('/')}/`);
const namespaceId = fc.constantFrom('root', 'AbCdE');

const mountAt = (id: string, at: string, index: number): MountRecord => ({
  uuid: `${index}`,
  accessor: '',
  table: 'secret',
  type: 'sample',
  namespaceId: id,
  path: at,
  description: '',
  local: false,
  options: {},
  config: DEFAULT_MOUNT_CONFIG,
});

/** Valid sets of mounts: none at or below another mount of its namespace. */
const mounts = fc.array(fc.tuple(namespaceId, path)).map((wanted) => {
  const allowed: MountRecord[] = [];
  for (const [id, at] of wanted) {
    const taken = allowed.filter((mount) => mount.namespaceId === id).map((mount) => mount.path);
    if (findConflict(at, taken) === undefined) allowed.push(mountAt(id, at, allowed.length));
  }
  return allowed;
});

test('the mount that serves a path is the one whose path it begins with', () => {
  fc.assert(
    fc.property(mounts, namespaceId, path, segment, (all, id, at, rest) => {
      const index = new MountIndex(all);
      for (const asked of [at.slice(0, -1), at, `${at}${rest}`]) {
        const expected = all.find(
          (mount) => mount.namespaceId === id && `${asked}/`.startsWith(mount.path),
        );
        expect(index.findServing(id, asked)).toBe(expected);
      }
    }),
  );
});
