/** The request of a command such as `terraform login`, in the address with which it opens the console (RFC 6749, RFC 7636). */

/** As the gateway announces it to the commands. */
export const COMMAND_LOGIN_PATH = '/app/command-login';

const NAMES = [
  'response_type',
  'client_id',
  'redirect_uri',
  'code_challenge',
  'code_challenge_method',
  'state',
] as const;

export type CommandLogin = Readonly<Partial<Record<(typeof NAMES)[number], string>>>;

/** Texts of digits alone arrive as numbers. */
export const parseCommandLogin = (search: Readonly<Record<string, unknown>>): CommandLogin =>
  Object.fromEntries(
    NAMES.flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [];
    }),
  );

/** The port of this computer on which the command listens; undefined for any other address. The server decides. */
export const portOf = ({ redirect_uri: address = '' }: CommandLogin): string | undefined =>
  /^http:\/\/(?:localhost|127\.0\.0\.1):(\d+)\/login$/.exec(address)?.[1];

export const decisionBody = (login: CommandLogin, isApproved: boolean): object => ({
  data: {
    type: 'command-logins',
    attributes: {
      ...Object.fromEntries(NAMES.map((name) => [name.replaceAll('_', '-'), login[name]])),
      approved: isApproved,
    },
  },
});
