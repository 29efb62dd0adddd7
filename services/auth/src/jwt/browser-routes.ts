/** `oidc/…`: logins through a browser, which comes back to the program that began one, or to Keelson. */
import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import {
  type FieldValues,
  type FinalAnswer,
  field,
  rawResponse,
  secretsRoutes,
} from '@keelson/secrets-api';
import { answerLogin, type Logins, type VerifiedLogin } from '../logins/login-operations.ts';
import { MAX_TOKEN_LENGTH } from '../providers/signed-token.ts';
import {
  type BrowserLogin,
  type BrowserLogins,
  isBegunWith,
  type ReturnedLogin,
} from './browser-login-operations.ts';
import {
  confirmationPage,
  PAGE_HEADERS,
  refusalPage,
  SUCCESS_PAGE,
} from './domain/browser-page.ts';
import { requireCurrent } from './domain/token-times.ts';
import { ROLE_FIELD } from './role-field.ts';
import { toLogin } from './verified-login.ts';

const TAG = 'jwt';

/** The token is in `auth`. */
const FOR_BROWSERS = { mirrored: {}, isForBrowsers: true } as const;

const CLIENT_NONCE_FIELD = field.string({
  description: 'A random text of the program that begins the login, which it repeats at its end.',
  default: '',
  maxLength: 256,
});

const STATE_FIELD = field.string({
  description: 'The state of the login, as the browser has brought it.',
  default: '',
  maxLength: 8192,
});

const ANSWER_FIELDS = {
  state: STATE_FIELD,
  code: field.string({ description: 'The code.', default: '', maxLength: 8192 }),
  id_token: field.string({
    description: 'The token, from a provider that sends it in place of a code.',
    default: '',
    maxLength: MAX_TOKEN_LENGTH,
  }),
  iss: field.string({ description: 'The issuer (RFC 9207).', default: '', maxLength: 2048 }),
  error: field.string({
    description: 'Why the provider has refused.',
    default: '',
    maxLength: 256,
  }),
  error_description: field.string({
    description: 'The same in words.',
    default: '',
    maxLength: 1024,
  }),
  client_nonce: CLIENT_NONCE_FIELD,
  confirmation: field.string({
    description: 'Given by the page that asks the user of a direct login.',
    default: '',
    maxLength: 16,
  }),
} as const;

type Answer = FieldValues<typeof ANSWER_FIELDS>;

export interface BrowserRouteParts {
  readonly clock: { nowMs(): number };
  readonly logins: Logins;
  readonly browserLogins: BrowserLogins;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const htmlAnswer = (status: number, html: string): FinalAnswer =>
  rawResponse(status, 'text/html; charset=utf-8', Buffer.from(html), PAGE_HEADERS);

/** The answer for a person who looks at the browser, whatever happens. */
const inPage = async (serve: () => Promise<FinalAnswer>): Promise<FinalAnswer> => {
  try {
    return await serve();
  } catch (thrown) {
    const error = KeelsonError.from(thrown);
    if (error.code === 'internal' || error.httpStatus >= 500) throw thrown;
    return htmlAnswer(error.httpStatus, refusalPage(error.message));
  }
};

/** The login of a verified user. @throws KeelsonError `request.invalid` */
const toVerified = (login: BrowserLogin, nowMs: number): VerifiedLogin => {
  const { config, role, claims } = login;
  requireCurrent(claims, role, nowMs);
  // The token is for the client, and for others only if the role says so.
  const boundAudiences =
    role.boundAudiences.length === 0 ? [config.oidcClientId] : role.boundAudiences;
  return toLogin({ ...login, role: { ...role, boundAudiences } });
};

const requireNoError = ({ error, error_description: text }: Answer): void => {
  if (error !== '') refuse(`the provider has refused the login: ${text === '' ? error : text}`);
};

const toAnswer = ({ state, code, iss, id_token: idToken }: Answer) => ({
  state,
  code,
  iss,
  idToken,
});

/** Where the browser goes on to a program that reads no forms. */
const goOn = ({ login }: ReturnedLogin, { state, iss }: Answer, code: string): FinalAnswer => {
  const url = new URL(login.returnTo);
  url.searchParams.set('state', state);
  url.searchParams.set('code', code);
  if (iss !== '') url.searchParams.set('iss', iss);
  return rawResponse(303, '', Buffer.alloc(0), { ...PAGE_HEADERS, location: url.href });
};

/** Receives a browser for a program that asks later. */
const receive = async (
  { clock, browserLogins }: BrowserRouteParts,
  mount: Mount,
  returned: ReturnedLogin,
  fields: Answer,
): Promise<FinalAnswer> => {
  const { login, role } = returned;
  requireNoError(fields);
  if (login.mode === 'direct' && !role.skipsConfirmation && fields.confirmation !== 'yes') {
    const { state, code, iss, id_token: idToken } = fields;
    const repeated = { state, code, iss, id_token: idToken, confirmation: 'yes' };
    return htmlAnswer(200, confirmationPage(login, repeated));
  }
  const code = await browserLogins.accept(mount, returned, toAnswer(fields), (verified) => {
    toVerified(verified, clock.nowMs());
  });
  return login.returnTo === '' ? htmlAnswer(200, SUCCESS_PAGE) : goOn(returned, fields, code);
};

const callbackRoutes = (parts: BrowserRouteParts): Route[] =>
  secretsRoutes({
    path: '/jwt/oidc/callback',
    tag: TAG,
    fields: ANSWER_FIELDS,
    operations: {
      read: {
        summary: 'Sign in with what the browser has brought back from the provider',
        answer: FOR_BROWSERS,
        handle: async (request) => {
          const { clock, logins, browserLogins } = parts;
          const mount = requireMount(request);
          const { fields } = request;
          const returned = await browserLogins.find(mount, fields.state);
          if (returned.login.mode === 'direct')
            return inPage(() => receive(parts, mount, returned, fields));
          requireNoError(fields);
          const answer = { ...toAnswer(fields), clientNonce: fields.client_nonce };
          const login = await browserLogins.finish(mount, returned, answer);
          return answerLogin(logins, request, toVerified(login, clock.nowMs()));
        },
      },
      update: {
        summary: 'Receive the form that a provider sends through the browser',
        answer: FOR_BROWSERS,
        handle: (request) => {
          const mount = requireMount(request);
          return inPage(async () => {
            const returned = await parts.browserLogins.find(mount, request.fields.state);
            const { config, login } = returned;
            // A program that has received the form itself passes it on with its nonce.
            const isOfProgram = login.mode === 'client' && login.returnTo === '';
            if (!config.postsForm && login.mode !== 'direct')
              return refuse('the mount does not have oidc_response_mode form_post');
            if (isOfProgram && !isBegunWith(login, request.fields.client_nonce))
              return refuse('invalid client_nonce');
            return receive(parts, mount, returned, request.fields);
          });
        },
      },
    },
  });

export const browserRoutes = (parts: BrowserRouteParts): Route[] => [
  ...secretsRoutes({
    path: '/jwt/oidc/auth_url',
    tag: TAG,
    fields: {
      role: ROLE_FIELD,
      redirect_uri: field.string({
        description:
          'Where the browser returns to, which the role must allow; none for a role with callback_mode device.',
        default: '',
        maxLength: 2048,
      }),
      client_nonce: CLIENT_NONCE_FIELD,
    },
    operations: {
      update: {
        summary: 'Begin to sign in through a browser',
        handle: async (request) => {
          const { role, redirect_uri: redirectUri, client_nonce: clientNonce } = request.fields;
          const { remoteAddress } = request.head;
          const given = { role, redirectUri, clientNonce, remoteAddress };
          const begun = await parts.browserLogins.begin(requireMount(request), given);
          // Clients have a text of their own for an empty address.
          if (begun === undefined)
            request.warnings.push('redirect_uri is not one of allowed_redirect_uris of the role');
          const { url = '', poll } = begun ?? {};
          return {
            data: {
              auth_url: url,
              ...(poll && {
                state: poll.state,
                poll_interval: String(poll.intervalSeconds),
                ...(poll.userCode !== '' && { user_code: poll.userCode }),
              }),
            },
          };
        },
      },
    },
  }),
  ...callbackRoutes(parts),
  ...secretsRoutes({
    path: '/jwt/oidc/poll',
    tag: TAG,
    fields: { state: STATE_FIELD, client_nonce: CLIENT_NONCE_FIELD },
    operations: {
      update: {
        summary: 'Ask for the result of a login whose browser does not return to the program',
        handle: async (request) => {
          const { state, client_nonce: clientNonce } = request.fields;
          const given = { state, clientNonce };
          const login = await parts.browserLogins.poll(requireMount(request), given);
          return answerLogin(parts.logins, request, toVerified(login, parts.clock.nowMs()));
        },
      },
    },
  }),
];
