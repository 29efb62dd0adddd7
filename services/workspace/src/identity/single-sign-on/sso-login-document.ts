import { type ResourceOf, resourceSchema } from '@keelson/jsonapi';
import { Type } from 'typebox';

export const SSO_LOGIN = resourceSchema({
  type: 'sso-logins',
  description: 'A sign-in at the provider of identities, which the browser begins.',
  attributes: {
    'authorization-url': Type.String({
      format: 'uri',
      description: 'Where the browser goes; it comes back to a page of the console.',
    }),
  },
});

export const toSsoLoginResource = (id: string, url: string): ResourceOf<typeof SSO_LOGIN> => ({
  id,
  type: 'sso-logins',
  attributes: { 'authorization-url': url },
});
