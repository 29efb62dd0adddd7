/** Oxlint rules of this repository (`jsPlugins` in .oxlintrc.json). */
import { guardedHandlers } from './guarded-handlers.ts';
import { linearExpressions } from './linear-expressions.ts';
import { plainComments } from './plain-comments.ts';

export default {
  meta: { name: 'keelson' },
  rules: {
    'guarded-handlers': guardedHandlers,
    'linear-expressions': linearExpressions,
    'plain-comments': plainComments,
  },
};
