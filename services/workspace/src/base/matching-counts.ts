import { Type } from 'typebox';

/** Member of `meta` in filtered lists, for `pageOf`. */
export const MATCHING_COUNTS = {
  'status-counts': Type.Object({
    total: Type.Integer({ description: 'All that the caller may see.' }),
    matching: Type.Integer({ description: 'Those that the filters of the request select.' }),
  }),
};
