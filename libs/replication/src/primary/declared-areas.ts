/** The records that a paths filter can withhold, according to the owners in the declarations. */
import { type Declaration, declaredRecords } from '@keelson/storage';
import type { RecordArea } from '../domain/record-groups.ts';

const GROUP_KINDS = ['mount', 'namespace'] as const;

/** The area of the records of a declaration; undefined if they cross to every secondary. */
const areaOf = ({
  name,
  kind,
  owners,
  indexOf,
  namesOwner,
}: Declaration): RecordArea | undefined => {
  if (namesOwner === true) {
    const [owner] = declaredRecords().flatMap((one) => (one.name === indexOf ? one.owners : []));
    const named = GROUP_KINDS.find((one) => one === owner?.kind);
    return named && { below: `shared/${name}/`, named, segment: 'first' };
  }
  const own = GROUP_KINDS.find((one) => one === kind);
  if (own !== undefined)
    return { below: `shared/${name}/`, named: own, segment: 'last', isLast: true };
  for (const named of GROUP_KINDS) {
    const owner = owners.find((one) => one.kind === named);
    if (owner === undefined) continue;
    const [before = ''] = `shared/${name}/`.split('*', 1);
    // Paths alone decide, and the rows of most indexes do not begin with the owner.
    const isIndexed = declaredRecords().some(
      (one) => one.indexOf === name && one.namesOwner !== true,
    );
    if (owner.by !== '*' || isIndexed)
      throw new Error(
        `a paths filter cannot withhold ${name}: its path does not name its ${named}`,
      );
    return { below: before, named, segment: 'first', ...(owner.isKey && { isLast: true }) };
  }
  return undefined;
};

/**
 * Areas of the replicated records that belong to a mount or a namespace, of the modules loaded so far.
 * @throws Error for a declaration whose paths do not tell the owner
 */
export const declaredAreas = (): readonly RecordArea[] => {
  const areas = declaredRecords()
    .filter(({ scopes }) => scopes.includes('shared'))
    .map(areaOf)
    .filter((area) => area !== undefined);
  return [...new Map(areas.map((area) => [area.below, area])).values()];
};
