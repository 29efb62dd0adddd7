import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { Button } from './button.tsx';
import { Problem } from './page.tsx';
import { Skeleton } from './skeleton.tsx';

/**
 * Shows the value of a query, a placeholder while it loads, or the error. The last value stays visible while
 * the next one loads or fails, with the error above it.
 */
export function Loaded<Value>(props: {
  query: UseQueryResult<Value>;
  children: (value: Value) => ReactNode;
}) {
  const { data, error, isPending, refetch } = props.query;
  return (
    <>
      {error !== null && (
        <Problem>
          {messageOf(error)}{' '}
          <Button look="link" onClick={() => void refetch()}>
            Try again
          </Button>
        </Problem>
      )}
      {isPending && error === null && <Skeleton />}
      {data !== undefined && props.children(data)}
    </>
  );
}
