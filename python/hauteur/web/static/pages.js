// The addresses of other pages, as the navigation has them.

export const pageAt = (name) => document.querySelector(`nav [data-page="${name}"]`).getAttribute("href");

// The page of a method; those of a page without a server are files in one folder.
export function methodAt(name) {
  const methods = pageAt("methods");
  return methods.endsWith(".html") ? `method-${name}.html` : `${methods}/${name}`;
}
