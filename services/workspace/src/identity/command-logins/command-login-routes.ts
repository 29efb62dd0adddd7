/**
 * The sign-in of commands. The console decides in the name of its user, whose token it sends itself: no page of
 * another site can do that. The token endpoint speaks OAuth 2.0 (RFC 6749, section 4.1.3), and its credential is the
 * code.
 */
import { COMMAND_LOGIN, type EdgeResponse, edgeResponse, type Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { choice, endpoint, jsonApiRoutes, one, resourceBody } from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import type { IdentityContext } from '../seams/identity-context.ts';
import { toCommandLoginResource } from './command-login-document.ts';
import { decideLogin, exchangeCode } from './command-login-operations.ts';
import { REFUSED_CODE } from './domain/command-login.ts';

const FORM = 'application/x-www-form-urlencoded';
const FORM_BYTES = 8192;

const APPROVAL = resourceBody(
  'command-logins',
  Type.Object({
    'response-type': Type.Literal('code'),
    'client-id': Type.String({ maxLength: 255, description: 'As the installation announces it.' }),
    'redirect-uri': Type.String({
      maxLength: 255,
      description: 'http://localhost:PORT/login, with a port that the installation announces.',
    }),
    'code-challenge': Type.String({ maxLength: 128 }),
    'code-challenge-method': Type.Literal('S256'),
    state: Type.String({ minLength: 1, maxLength: 512 }),
    approved: Type.Boolean({ description: 'False: the command gets no token, and ends.' }),
  }),
);

const ERRORS = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unsupported_grant_type',
] as const;

const TOKEN = Type.Object({
  access_token: Type.String(),
  token_type: choice(['bearer']),
  expires_in: Type.Integer({ description: 'In seconds.' }),
});
const ERROR = Type.Object({ error: choice(ERRORS), error_description: Type.String() });

/** RFC 6749, section 5.1: nothing on the way keeps a token. */
const answer = (
  status: number,
  document: Static<typeof TOKEN> | Static<typeof ERROR>,
): EdgeResponse =>
  edgeResponse(
    status,
    { 'content-type': 'application/json', 'cache-control': 'no-store' },
    Buffer.from(JSON.stringify(document)),
  );

const refuse = (error: (typeof ERRORS)[number], text: string): EdgeResponse =>
  answer(400, { error, error_description: text });

const NAMES = ['grant_type', 'client_id', 'code', 'redirect_uri', 'code_verifier'] as const;
type Parameters = Readonly<Record<(typeof NAMES)[number], string>>;

/** Undefined unless each parameter is there once. Unknown ones are ignored, as OAuth asks for. */
const parseForm = (bytes: Uint8Array): Parameters | undefined => {
  const form = new URLSearchParams(Buffer.from(bytes).toString());
  const given = NAMES.map((name) => [name, form.getAll(name)] as const);
  if (given.some(([, values]) => values.length !== 1 || values[0] === '')) return undefined;
  return Object.fromEntries(given.map(([name, [value]]) => [name, value])) as Parameters;
};

const answerExchange = async (
  context: IdentityContext,
  bytes: Uint8Array,
  userAgent: string,
): Promise<EdgeResponse> => {
  const given = parseForm(bytes);
  if (given === undefined) return refuse('invalid_request', `give each once: ${NAMES.join(', ')}`);
  if (given.grant_type !== 'authorization_code')
    return refuse('unsupported_grant_type', 'grant_type must be authorization_code');
  if (given.client_id !== COMMAND_LOGIN.clientId)
    return refuse('invalid_client', `client_id must be ${COMMAND_LOGIN.clientId}`);
  const issued = await exchangeCode(
    context,
    { code: given.code, redirectUri: given.redirect_uri, verifier: given.code_verifier },
    userAgent,
  );
  if (issued === undefined)
    return refuse(
      'invalid_grant',
      given.code === REFUSED_CODE
        ? 'the user has refused'
        : 'the code is unknown, was shown before, has expired, or was made for another command: log in again',
    );
  const { createdAtMs, expiresAtMs } = issued.token;
  return answer(200, {
    access_token: issued.text,
    token_type: 'bearer',
    expires_in: Math.floor(((expiresAtMs ?? createdAtMs) - createdAtMs) / 1000),
  });
};

const json = (description: string, schema: object) => ({
  description,
  content: { 'application/json': { schema } },
});

/** For whoever has a code, which is the credential. */
export const commandTokenRoute = (context: IdentityContext): Route => ({
  method: 'POST',
  path: COMMAND_LOGIN.tokenPath,
  operation: () => ({
    tags: ['tokens'],
    summary:
      'Exchange the code of an approved login for a token of the user, as terraform login does',
    security: [],
    responses: {
      200: json('The token.', TOKEN),
      400: json('No token is given for this.', ERROR),
      default: { $ref: '#/components/responses/Refused' },
    },
  }),
  handle: async ({ head, body }) => {
    const bytes = await body.bytes(FORM_BYTES);
    const type = (head.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
    if (bytes.byteLength > 0 && type !== FORM)
      throw new KeelsonError('request.unsupported_media_type', {
        text: `the parameters must have the content type ${FORM}`,
      });
    return answerExchange(context, bytes, head.headers['user-agent'] ?? '');
  },
});

export const commandLoginRoutes = (context: IdentityContext): Route[] =>
  jsonApiRoutes('tokens', [
    endpoint({
      method: 'POST',
      path: '/command-logins',
      summary: 'Approve or refuse the login of a command such as terraform login',
      answers: one('command-logins'),
      body: { schema: APPROVAL },
      success: 201,
      handle: async ({ principal, body }) => {
        const given = body.data.attributes;
        const request = {
          clientId: given['client-id'],
          redirectUri: given['redirect-uri'],
          challenge: given['code-challenge'],
          state: given.state,
        };
        const decided = await decideLogin(context, principal, request, given.approved);
        return { document: { data: toCommandLoginResource(decided) } };
      },
    }),
  ]);
