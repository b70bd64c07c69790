// The addresses of other pages, as the navigation has them.

export const pageAt = (name) => document.querySelector(`nav [data-page="${name}"]`).getAttribute("href");

// The page of a method; a page without a server has one for all.
export function methodAt(name) {
  const methods = pageAt("methods");
  return methods.endsWith(".html") ? methods : `${methods}/${name}`;
}
