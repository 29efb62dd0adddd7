/** ssh puts the names of the user and of the host into the command line of a shell. */
const NAME = /^\w[\w.-]*$/;

/** Whether a repository is fetched from an address that somebody else has named: "ssh://git@host:7999/a/b.git". */
export const isSshAddress = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hostname } = new URL(text);
  const isUser = username === '' || NAME.test(username);
  return protocol === 'ssh:' && password === '' && isUser && NAME.test(hostname);
};
