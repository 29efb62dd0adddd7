import { expect, test } from 'vitest';
import { PlacedQuotas } from './placed-quotas.ts';
import { QUOTA_UPGRADES } from './quota-upgrades.ts';

const { up, down } = QUOTA_UPGRADES[2];
const OF_MOUNT = { namespaceId: 'root', mountUuid: 'm', below: 'login', isInheritable: false };
const OF_ROLE = { ...OF_MOUNT, below: '', role: 'web' };

test('a release without quotas of roles reads one that limits no request, and gives it back', () => {
  for (const quota of [OF_MOUNT, OF_ROLE]) expect(up(down(quota))).toEqual(quota);
  const older = new PlacedQuotas([down(OF_ROLE) as typeof OF_MOUNT]);
  for (const below of ['', 'login', '/', 'web'])
    expect(older.find({ lineage: ['root'], mountUuid: 'm', below })).toBeUndefined();
});
