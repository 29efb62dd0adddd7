type Stored = Readonly<Record<string, unknown>>;

/** No request has such a path. */
const NO_PATH = '//';

/**
 * Version 2 has quotas of roles. A process of an earlier release must not take one for a quota of the whole mount, so
 * that it reads a path that no request has.
 */
export const QUOTA_UPGRADES = {
  2: {
    up: ({ below, ...quota }: Stored): Stored => {
      const path = below as string;
      return path.startsWith(NO_PATH)
        ? { ...quota, below: '', role: path.slice(NO_PATH.length) }
        : { ...quota, below };
    },
    down: ({ role, ...quota }: Stored): Stored =>
      role === undefined ? quota : { ...quota, below: `${NO_PATH}${role as string}` },
  },
};
