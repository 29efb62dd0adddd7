/**
 * Which versions of Node run Keelson. JavaScript of the year 2020, because a version that is too old for
 * Keelson reads neither TypeScript nor newer syntax, and has to get this far to be refused with a sentence.
 */

const isFit = (version) => {
  const [major, minor] = version.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 12);
};

/**
 * @param {string} name of the process, for the message
 * @returns {boolean} whether this version is refused; the reason and the remedy are then on standard error, and
 *   the exit code is 1
 */
export const refuseOldNode = (name) => {
  const version = process.versions.node;
  if (isFit(version)) return false;
  process.stderr.write(
    `${name} cannot start: it needs Node 24.12 or newer, this is ${version} (${process.execPath}). ` +
      'In the repository, `make up`, `npm start` and node_modules/node/bin/node are one that fits once ' +
      '`make up` or `npm install` has run; elsewhere, install a newer Node.\n',
  );
  process.exitCode = 1;
  return true;
};
