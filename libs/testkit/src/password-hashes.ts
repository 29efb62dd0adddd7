/** The work of a sign-in, which must not depend on who has an account: how many passwords this process hashes. */
import { createHook } from 'node:async_hooks';

/** Counts the computations of Argon2 that begin while it runs. */
export const countPasswordHashes = async (run: () => Promise<unknown>): Promise<number> => {
  let hashes = 0;
  const hook = createHook({
    init: (_, type) => {
      if (type === 'ARGON2REQUEST') hashes += 1;
    },
  }).enable();
  try {
    await run();
    return hashes;
  } finally {
    hook.disable();
  }
};
