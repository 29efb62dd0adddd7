/**
 * Requests of a secondary and their answers, encrypted under the key of the link. An answer is
 * bound to its request, so an old answer cannot be replayed.
 */
import { KeelsonError } from '@keelson/errors';
import { Answer, Question, SealedQuestion } from '@keelson/proto/replication/v1/replication';
import { nonceOf, openMessage, sealMessage } from '../cipher/sealed-message.ts';

export type Ask = NonNullable<Question['ask']>;
export type AnswerContent = NonNullable<Answer['content']>;

/** Largest part of a request or an answer in one message, below the max_payload of NATS. */
export const FORWARDED_PART_BYTES = 900 * 1024;

const questionPurpose = (subject: string, secondaryId: string): string =>
  `question ${subject} ${secondaryId}`;
const answerPurpose = (subject: string, sealedQuestion: Uint8Array): string =>
  `answer ${subject} ${nonceOf(sealedQuestion)}`;

const decode = <T>(bytes: Uint8Array, parse: (bytes: Uint8Array) => T): T => {
  try {
    return parse(bytes);
  } catch (error) {
    throw new KeelsonError('replication.malformed', { reason: 'no message' }, { cause: error });
  }
};

export interface TravellingQuestion {
  readonly payload: Uint8Array;
  /** @throws KeelsonError `replication.undecryptable`, `replication.malformed` */
  openAnswer(payload: Uint8Array): OpenedAnswer;
}

interface OpenedAnswer {
  readonly content: AnswerContent;
  /** Promotion number of the primary that answered. */
  readonly promotion: number;
}

export const sealQuestion = (
  linkKey: Uint8Array,
  subject: string,
  secondaryId: string,
  { ask, promotion }: { readonly ask: Ask; readonly promotion: number },
): TravellingQuestion => {
  const question = Question.encode({ ask, promotion: BigInt(promotion) }).finish();
  const sealed = sealMessage(linkKey, questionPurpose(subject, secondaryId), question);
  return {
    payload: SealedQuestion.encode({ secondaryId, sealed }).finish(),
    openAnswer: (payload) => {
      const { content, promotion: ofPrimary } = decode(
        openMessage(linkKey, answerPurpose(subject, sealed), payload),
        (bytes) => Answer.decode(bytes),
      );
      if (content === undefined)
        throw new KeelsonError('replication.malformed', { reason: 'empty' });
      return { content, promotion: Number(ofPrimary) };
    },
  };
};

/**
 * Reads the id of the asking secondary, which is unauthenticated until `openQuestion`.
 * @throws KeelsonError `replication.malformed`
 */
export const parseSealedQuestion = (payload: Uint8Array): SealedQuestion =>
  decode(payload, (bytes) => SealedQuestion.decode(bytes));

export interface OpenedQuestion {
  readonly ask: Ask;
  /** Highest promotion number known to the secondary. */
  readonly promotion: number;
  /** @param promotion of this primary */
  sealAnswer(content: AnswerContent, promotion: number): Uint8Array;
}

/** @throws KeelsonError `replication.undecryptable`, `replication.malformed` */
export const openQuestion = (
  linkKey: Uint8Array,
  subject: string,
  { secondaryId, sealed }: SealedQuestion,
): OpenedQuestion => {
  const { ask, promotion: known } = decode(
    openMessage(linkKey, questionPurpose(subject, secondaryId), sealed),
    (bytes) => Question.decode(bytes),
  );
  if (ask === undefined) throw new KeelsonError('replication.malformed', { reason: 'empty' });
  return {
    ask,
    promotion: Number(known),
    sealAnswer: (content, promotion) =>
      sealMessage(
        linkKey,
        answerPurpose(subject, sealed),
        Answer.encode({ content, promotion: BigInt(promotion) }).finish(),
      ),
  };
};
