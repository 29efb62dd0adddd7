/** Oxlint rules of this repository (`jsPlugins` in .oxlintrc.json). */
import { linearExpressions } from './linear-expressions.ts';
import { plainComments } from './plain-comments.ts';

export default {
  meta: { name: 'keelson' },
  rules: { 'linear-expressions': linearExpressions, 'plain-comments': plainComments },
};
