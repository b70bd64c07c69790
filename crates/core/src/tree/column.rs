//! A vector parallel to another one, kept only while a rule wants it.

use std::any::Any;
use std::ops::Range;

use hauteur_machine::Arena;

/// A vector parallel to another one, or nothing at all while it is off.
#[derive(Clone, Debug)]
pub struct Column<T: Copy> {
    on: bool,
    items: Arena<T>,
}

/// What happens to every column of a kind when the other vector changes; nothing while the column is off.
pub trait SideColumn {
    /// Grow with the other vector.
    fn resize(&mut self, len: usize);
    /// Move a block of values.
    fn move_within(&mut self, from: Range<usize>, to: usize);
    /// Set the value at an index to the default.
    fn clear(&mut self, index: usize);
    /// Take the values of a range of another tree's column of the same type.
    fn copy_from(&mut self, to: usize, source: &dyn SideColumn, from: Range<usize>);
    /// Bring the last value of a range to its front.
    fn rotate(&mut self, range: Range<usize>);
    /// Put the values of a range into another order: the one at `places[k]` comes to place `k`.
    fn permute(&mut self, range: Range<usize>, places: &[usize]);
    /// Bytes in use.
    fn bytes(&self) -> usize;
    /// For `copy_from`.
    fn as_any(&self) -> &dyn Any;
}

impl<T: Copy> Default for Column<T> {
    fn default() -> Self {
        Column { on: false, items: Arena::new() }
    }
}

impl<T: Copy + Default> Column<T> {
    pub(crate) fn new(on: bool) -> Self {
        Column { on, items: Arena::new() }
    }

    /// True when values are kept.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// The value at an index; the default while the column is off.
    #[inline]
    pub fn get(&self, index: usize) -> T {
        // A column that is off is empty: every index is beyond its end, and nobody has to ask first whether the rule is
        // on.
        self.items.get(index).copied().unwrap_or_default()
    }

    /// Changes the value at an index; nothing while the column is off.
    #[inline]
    pub fn set(&mut self, index: usize, value: T) {
        if let Some(item) = self.items.get_mut(index) {
            *item = value;
        }
    }

    /// The values of a range; empty while the column is off.
    #[inline]
    pub fn range(&self, range: Range<usize>) -> &[T] {
        self.items.get(range).unwrap_or_default()
    }

    /// The values of a range, to be changed; empty while the column is off.
    #[inline]
    pub fn range_mut(&mut self, range: Range<usize>) -> &mut [T] {
        if self.on { &mut self.items[range] } else { &mut [] }
    }
}

impl<T: Copy + Default + 'static> SideColumn for Column<T> {
    fn resize(&mut self, len: usize) {
        if self.on {
            self.items.grow_to(len, T::default());
        }
    }

    fn move_within(&mut self, from: Range<usize>, to: usize) {
        if self.on {
            self.items.copy_within(from, to);
        }
    }

    fn clear(&mut self, index: usize) {
        self.set(index, T::default());
    }

    fn copy_from(&mut self, to: usize, source: &dyn SideColumn, from: Range<usize>) {
        if self.on {
            let source: &Self = source.as_any().downcast_ref().expect("a column of the same type");
            self.items[to..to + from.len()].copy_from_slice(&source.items[from]);
        }
    }

    fn rotate(&mut self, range: Range<usize>) {
        if self.on {
            self.items[range].rotate_right(1);
        }
    }

    fn permute(&mut self, range: Range<usize>, places: &[usize]) {
        if self.on {
            // A copy of one node's few values; in place a permutation would have to follow its cycles.
            let before = self.items[range.clone()].to_vec();
            self.items[range].iter_mut().zip(places).for_each(|(item, place)| *item = before[*place]);
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.items[..])
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `width` floats an index, kept side by side; nothing where the width is 0.
#[derive(Clone, Debug, Default)]
pub struct Floats {
    width: usize,
    items: Column<f64>,
}

impl Floats {
    pub(crate) fn new(width: usize) -> Self {
        Floats { width, items: Column::new(width > 0) }
    }

    fn places(&self, range: Range<usize>) -> Range<usize> {
        range.start * self.width..range.end * self.width
    }

    /// The floats of a range of indices, one index after another.
    #[inline]
    pub fn range(&self, range: Range<usize>) -> &[f64] {
        self.items.range(self.places(range))
    }

    /// The floats of an index, to be changed.
    #[inline]
    pub fn at_mut(&mut self, index: usize) -> &mut [f64] {
        let places = self.places(index..index + 1);
        self.items.range_mut(places)
    }

    /// Changes the floats of an index.
    pub fn set(&mut self, index: usize, values: impl Iterator<Item = f64>) {
        let places = self.places(index..index + 1);
        self.items.range_mut(places).iter_mut().zip(values).for_each(|(item, value)| *item = value);
    }
}

impl SideColumn for Floats {
    fn resize(&mut self, len: usize) {
        self.items.resize(len * self.width);
    }

    fn move_within(&mut self, from: Range<usize>, to: usize) {
        self.items.move_within(self.places(from), to * self.width);
    }

    fn clear(&mut self, index: usize) {
        let places = self.places(index..index + 1);
        self.items.range_mut(places).fill(0.0);
    }

    fn copy_from(&mut self, to: usize, source: &dyn SideColumn, from: Range<usize>) {
        let source: &Self = source.as_any().downcast_ref().expect("a column of the same type");
        self.items.copy_from(to * self.width, &source.items, self.places(from));
    }

    fn rotate(&mut self, range: Range<usize>) {
        let places = self.places(range);
        self.items.range_mut(places).rotate_right(self.width);
    }

    fn permute(&mut self, range: Range<usize>, places: &[usize]) {
        let before = self.range(range.clone()).to_vec();
        for (index, place) in range.zip(places) {
            self.set(index, before[place * self.width..][..self.width].iter().copied());
        }
    }

    fn bytes(&self) -> usize {
        self.items.bytes()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A column for each of some nets, by their places.
#[derive(Clone, Debug, Default)]
pub struct PerNet<T: Copy>(Vec<Column<T>>);

impl<T: Copy + Default> PerNet<T> {
    pub(crate) fn new(nets: usize) -> Self {
        PerNet((0..nets).map(|_| Column::new(true)).collect())
    }

    /// The value of a net at an index; the default where the net has no column.
    #[inline]
    pub fn get(&self, net: usize, index: usize) -> T {
        self.0.get(net).map_or_else(T::default, |column| column.get(index))
    }

    /// Changes the value of a net at an index; nothing where the net has no column.
    #[inline]
    pub fn set(&mut self, net: usize, index: usize, value: T) {
        if let Some(column) = self.0.get_mut(net) {
            column.set(index, value);
        }
    }
}

impl<T: Copy + Default + 'static> SideColumn for PerNet<T> {
    fn resize(&mut self, len: usize) {
        self.0.iter_mut().for_each(|column| column.resize(len));
    }

    fn move_within(&mut self, from: Range<usize>, to: usize) {
        self.0.iter_mut().for_each(|column| column.move_within(from.clone(), to));
    }

    fn clear(&mut self, index: usize) {
        self.0.iter_mut().for_each(|column| column.clear(index));
    }

    fn copy_from(&mut self, to: usize, source: &dyn SideColumn, from: Range<usize>) {
        let source: &Self = source.as_any().downcast_ref().expect("columns of the same type");
        self.0.iter_mut().zip(&source.0).for_each(|(column, source)| column.copy_from(to, source, from.clone()));
    }

    fn rotate(&mut self, range: Range<usize>) {
        self.0.iter_mut().for_each(|column| column.rotate(range.clone()));
    }

    fn permute(&mut self, range: Range<usize>, places: &[usize]) {
        self.0.iter_mut().for_each(|column| column.permute(range.clone(), places));
    }

    fn bytes(&self) -> usize {
        self.0.iter().map(SideColumn::bytes).sum()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
