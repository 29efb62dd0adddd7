/** Order and page of the list of projects, as kept in the address bar. */

export interface ProjectSearch {
  /** "-name"; by name without it. */
  readonly sort?: '-name';
  readonly page?: number;
}

/** The order and the page in an address. */
export const parseProjectSearch = (search: Readonly<Record<string, unknown>>): ProjectSearch => {
  const page = Number(search['page']);
  return {
    ...(search['sort'] === '-name' && { sort: '-name' }),
    ...(Number.isInteger(page) && page > 1 && { page }),
  };
};
