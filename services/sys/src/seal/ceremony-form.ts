/** The two forms in which the addresses of ceremonies answer. */
import {
  type Answer,
  type DescribedAnswer,
  type FinalAnswer,
  type JsonObject,
  topLevel,
} from '@keelson/secrets-api';

export interface CeremonyForm {
  readonly present: (document: JsonObject) => Answer | FinalAnswer;
  readonly describe: (described: { readonly document: JsonObject }) => DescribedAnswer;
}

/** The form of the documented addresses, which need no token. */
export const WITHOUT_ENVELOPE: CeremonyForm = {
  present: topLevel,
  describe: (described) => described,
};

/** The form of the addresses that need a token, which OpenBao's command line uses from version 2.5. */
export const IN_ENVELOPE: CeremonyForm = {
  present: (data) => ({ data }),
  describe: ({ document: data }) => ({ data }),
};
