/** The page of a list, kept in the address, so that Back returns to it and others see the same. */
import { useNavigate, useSearch } from '@tanstack/react-router';

/** The page that is shown, and a function that turns to another one. */
export type ListPage = readonly [page: number, turn: (page: number) => void];

/** @param list its name, which no other list of the same page of the console has */
export const useListPage = (list: string): ListPage => {
  const parameter = `${list}-page`;
  const navigate = useNavigate();
  const named = Number(
    useSearch({
      strict: false,
      select: (search) => (search as Readonly<Record<string, unknown>>)[parameter],
    }) ?? 1,
  );
  const turn = (page: number): void =>
    void navigate({
      to: '.',
      search: (before) => ({ ...before, [parameter]: page === 1 ? undefined : page }),
    });
  return [Number.isInteger(named) && named > 1 ? named : 1, turn];
};
