/**
 * The sign-in of commands such as `terraform login`: the gateway announces these facts at
 * `/.well-known/terraform.json`, and the workspace service holds to them.
 */
export const COMMAND_LOGIN = {
  /** Public, because programs on machines of users keep no secret. */
  clientId: 'terraform-cli',
  /** The page of the console on which the user decides. */
  authorizationPath: '/app/command-login',
  /** Below `/api/v2`. */
  tokenPath: '/command-logins/token',
  /** The first and the last port on which a command may listen on its own machine. */
  ports: [10_000, 10_010],
} as const;
