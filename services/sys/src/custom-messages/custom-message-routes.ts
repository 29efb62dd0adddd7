import type { Route } from '@keelson/edge';
import { type FieldValues, field, secretsRoutes } from '@keelson/secrets-api';
import {
  displayDocument,
  messageDocument,
  messageListDocument,
} from './custom-message-document.ts';
import {
  type CustomMessageContext,
  createCustomMessage,
  displayCustomMessages,
  listCustomMessages,
  readCustomMessage,
  removeCustomMessage,
  replaceCustomMessage,
} from './custom-message-operations.ts';
import { isBase64, isMessageType, type MessageDraft, parseLink } from './domain/custom-message.ts';

const BASE = '/sys/config/ui/custom-messages';

const ownTexts = <const N extends string>(name: N) => ({
  invalidText: (reason: string) => `invalid ${name} parameter value: ${reason}`,
});
const required = <const N extends string>(name: N) => ({
  ...ownTexts(name),
  required: `missing ${name} parameter value`,
});

// The order of the fields decides which of several mistakes is reported.
const CONTENT = {
  title: field.string({
    description: 'Title: returned only.',
    maxLength: 1024,
    ...required('title'),
  }),
  authenticated: field.bool({
    description: 'Shown after login (true) or before (false).',
    default: true,
    ...ownTexts('authenticated'),
  }),
  type: field.string({
    description: '"banner" or "modal".',
    default: 'banner',
    ...ownTexts('type'),
  }),
  message: field.string({
    description: 'Text of the message, base64: returned only.',
    maxLength: 1_000_000,
    ...required('message'),
    check: (text) =>
      isBase64(text) ? undefined : 'invalid message parameter value, must be base64 encoded',
  }),
  start_time: field.time({ description: 'Start of the active period.', ...required('start_time') }),
  end_time: field.time({
    description: 'End of the active period; without it the period never ends.',
    ...ownTexts('end_time'),
  }),
  link: field.map({
    description: 'One member, title and URL: returned only.',
    maxLength: 4096,
    ...ownTexts('link'),
    check: (link) => {
      const parsed = parseLink(link);
      return 'refused' in parsed ? parsed.refused : undefined;
    },
  }),
  options: field.map({
    description: 'Free properties for clients: returned only.',
    maxLength: 1_000_000,
    ...ownTexts('options'),
  }),
} as const;

const toDraft = (values: FieldValues<typeof CONTENT>): MessageDraft => {
  const parsed = parseLink(values.link ?? {});
  return {
    title: values.title,
    authenticated: values.authenticated,
    type: values.type,
    message: values.message,
    startTime: values.start_time,
    endTime: values.end_time ?? null,
    link: 'link' in parsed ? parsed.link : null,
    options: values.options ?? null,
  };
};

const collectionRoutes = (context: CustomMessageContext): Route[] => [
  ...secretsRoutes({
    path: BASE,
    tag: 'custom messages',
    fields: {
      active: field.bool({
        description: 'Only active, or only inactive ones.',
        ...ownTexts('active'),
      }),
      authenticated: field.bool({
        description: 'Only post-login, or only pre-login ones.',
        ...ownTexts('authenticated'),
      }),
      type: field.string({ description: 'Only banners, or only modals.', ...ownTexts('type') }),
    },
    operations: {
      list: {
        summary: 'List the custom messages of the namespace.',
        handle: async ({ fields, namespace }) => {
          // An unknown type does not filter anything, which is the behaviour that clients expect.
          const type = isMessageType(fields.type ?? '') ? fields.type : undefined;
          const filter = { ...fields, type: type as 'banner' | 'modal' | undefined };
          return {
            data: messageListDocument(await listCustomMessages(context, namespace.id, filter)),
          };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: BASE,
    tag: 'custom messages',
    fields: CONTENT,
    operations: {
      update: {
        summary: 'Create a custom message.',
        description: 'At most 100 exist in a namespace.',
        handle: async ({ fields, namespace }) => ({
          data: messageDocument(await createCustomMessage(context, namespace.id, toDraft(fields))),
        }),
      },
    },
  }),
];

const id = field.string({ description: 'Id of the message.', required: true });

const memberRoutes = (context: CustomMessageContext): Route[] => [
  ...secretsRoutes({
    path: `${BASE}/:id`,
    tag: 'custom messages',
    fields: { id },
    operations: {
      read: {
        summary: 'Read a custom message.',
        handle: async ({ fields, namespace }) => ({
          data: messageDocument(await readCustomMessage(context, namespace.id, fields.id)),
        }),
      },
      delete: {
        summary: 'Delete a custom message.',
        handle: async ({ fields, namespace }) => {
          await removeCustomMessage(context, namespace.id, fields.id);
          return undefined;
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/:id`,
    tag: 'custom messages',
    fields: { id, ...CONTENT },
    operations: {
      update: {
        summary: 'Replace a custom message; omitted fields return to their defaults.',
        handle: async ({ fields, namespace }) => ({
          data: messageDocument(
            await replaceCustomMessage(context, namespace.id, fields.id, toDraft(fields)),
          ),
        }),
      },
    },
  }),
];

const displayRoutes = (context: CustomMessageContext): Route[] => [
  ...secretsRoutes({
    path: '/sys/internal/ui/unauthenticated-messages',
    tag: 'custom messages',
    fields: {},
    operations: {
      read: {
        summary: 'Active pre-login messages of the namespace and of those above it.',
        handle: async ({ namespace }) => ({
          data: displayDocument(await displayCustomMessages(context, namespace.path, false)),
        }),
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/internal/ui/authenticated-messages',
    tag: 'custom messages',
    fields: {},
    operations: {
      read: {
        summary: 'Active post-login messages of the namespace and of those above it.',
        description: 'Without a token the answer is empty.',
        handle: async ({ namespace, caller }) => ({
          data: displayDocument(
            caller === undefined ? [] : await displayCustomMessages(context, namespace.path, true),
          ),
        }),
      },
    },
  }),
];

/** `sys/config/ui/custom-messages`, and the two endpoints that show messages. */
export const customMessageRoutes = (context: CustomMessageContext): Route[] => [
  ...collectionRoutes(context),
  ...memberRoutes(context),
  ...displayRoutes(context),
];
