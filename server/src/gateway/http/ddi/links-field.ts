/** hawkBit's name for the links of a resource. */
export const linksField = '_links'
