/** The list of games that `solver export` writes beside an index. */
export const games: any[];
