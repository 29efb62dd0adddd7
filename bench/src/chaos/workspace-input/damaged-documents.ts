/** JSON documents with something wrong in them. */
import { wrongValue } from '../pki-input/damage.ts';
import type { Random } from '../random.ts';

export const damageText = (text: string, random: Random): string => {
  const at = random.below(text.length + 1);
  const put = Buffer.from(random.bytes(random.below(6))).toString('latin1');
  return text.slice(0, at) + put + text.slice(at + random.below(4));
};

export const damageBytes = (bytes: Uint8Array, random: Random): Uint8Array => {
  const damaged = Uint8Array.from(bytes);
  if (damaged.byteLength > 0) damaged[random.below(damaged.byteLength)] = random.below(256);
  return random.once(2) ? damaged : damaged.subarray(0, random.below(damaged.byteLength + 1));
};

const NAMES = ['__proto__', 'constructor', 'toString', 'nonsense', 'terraform-version', ''];

/** The document with one value, somewhere inside, that is wrong, missing or too many. */
export const damageValue = (value: unknown, random: Random): unknown => {
  if (Array.isArray(value)) {
    const list = value as unknown[];
    if (list.length === 0 || random.once(4))
      return Array.from(
        { length: random.pick([1, 40, 2000]) },
        () => list[0] ?? wrongValue(random),
      );
    const at = random.below(list.length);
    return list.map((one, index) => (index === at ? damageValue(one, random) : one));
  }
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'string' && random.once(2)
      ? damageText(value, random)
      : wrongValue(random);
  }
  const members = Object.entries(value);
  const name = random.pick([...Object.keys(value), ...Object.keys(value), random.pick(NAMES)]);
  switch (random.below(8)) {
    case 0:
      return Object.fromEntries(members.filter(([other]) => other !== name));
    case 1:
      return { ...value, [name]: wrongValue(random) };
    case 2:
      // `__proto__` as an own member, as in JSON.
      return Object.fromEntries([...members, [name, wrongValue(random)]]);
    default: {
      const given = (value as Readonly<Record<string, unknown>>)[name];
      return Object.fromEntries([...members, [name, damageValue(given, random)]]);
    }
  }
};

export const nested = (random: Random): string => {
  const depth = random.pick([31, 33, 5000]);
  return random.once(2)
    ? '['.repeat(depth) + ']'.repeat(depth)
    : `${'{"data":'.repeat(depth)}1${'}'.repeat(depth)}`;
};
