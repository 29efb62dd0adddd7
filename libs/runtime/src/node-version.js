/**
 * Refuses versions of Node that cannot run Keelson. This is JavaScript of the year 2020, because an old
 * version reads neither TypeScript nor newer syntax, and must reach this check to print the message.
 */

const isFit = (version) => {
  const [major, minor] = version.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 12);
};

/**
 * @param {string} name of the process, for the message
 * @returns {boolean} whether this version is refused; if it is, standard error names the reason and the remedy,
 *   and the exit code is 1
 */
export const refuseOldNode = (name) => {
  const version = process.versions.node;
  if (isFit(version)) return false;
  process.stderr.write(
    `${name} cannot start: it needs Node 24.12 or newer, this is ${version} (${process.execPath}). ` +
      'In the repository, `make up` and `npm start` use the right version; elsewhere, install a newer Node.\n',
  );
  process.exitCode = 1;
  return true;
};
