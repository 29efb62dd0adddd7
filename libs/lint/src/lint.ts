/** Rules of this repository for oxlint (`jsPlugins` of .oxlintrc.json). */
import { linearExpressions } from './linear-expressions.ts';

export default {
  meta: { name: 'keelson' },
  rules: { 'linear-expressions': linearExpressions },
};
