import { field } from '@keelson/secrets-api';

/** The role of a login. */
export const ROLE_FIELD = field.string({
  description: 'Name of the role; that of default_role if not given.',
  default: '',
  maxLength: 256,
});
