fn main() {
    fslab_web::start();
}
