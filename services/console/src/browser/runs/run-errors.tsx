import { useFollowedLog } from './follow-log.ts';
import { errorsIn } from './log-errors.ts';

/** Why a phase has failed, cut out of its log. */
export const RunErrors = (props: { phaseId: string; url: string | undefined }) => {
  const { blocks, isWhole } = useFollowedLog(props.phaseId, props.url);
  const errors = isWhole ? errorsIn(blocks.join('')) : [];
  if (errors.length === 0) return null;
  return (
    <section className="card run-errors" aria-label="Errors">
      {errors.map((text) => (
        <pre key={text}>{text}</pre>
      ))}
    </section>
  );
};
