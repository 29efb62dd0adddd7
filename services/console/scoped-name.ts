import { basename } from 'node:path';

/**
 * The name in the document of a class of a component: "pill-good" for `good` of `pill.module.css`, and "pill" for its
 * `pill`. The names of the files differ, so that these do.
 */
export const scopedName = (name: string, file: string): string => {
  const owner = basename(file.replace(/\?.*$/, ''), '.module.css');
  return name === owner ? name : `${owner}-${name}`;
};
