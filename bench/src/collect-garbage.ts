import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Of this process, all of it, at once. */
export const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
};
